#include "gate/gate.hpp"
