#include "packages/module_packages.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cellgate::packages {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// Module and package.
constexpr std::array module_packages = {
    Pair{"Crypto", "pycryptodome"},
    Pair{"Levenshtein", "levenshtein"},
    Pair{"MySQLdb", "mysqlclient"},
    Pair{"OpenSSL", "pyOpenSSL"},
    Pair{"PIL", "pillow"},
    Pair{"attr", "attrs"},
    Pair{"bs4", "beautifulsoup4"},
    Pair{"cv2", "opencv-python"},
    Pair{"dateutil", "python-dateutil"},
    Pair{"discord", "discord.py"},
    Pair{"docx", "python-docx"},
    Pair{"dotenv", "python-dotenv"},
    Pair{"faiss", "faiss-cpu"},
    Pair{"fitz", "PyMuPDF"},
    Pair{"git", "GitPython"},
    Pair{"github", "PyGithub"},
    Pair{"haystack", "haystack-ai"},
    Pair{"jose", "python-jose"},
    Pair{"jwt", "PyJWT"},
    Pair{"magic", "python-magic"},
    Pair{"mpl_toolkits", "matplotlib"},
    Pair{"pkg_resources", "setuptools"},
    Pair{"pptx", "python-pptx"},
    Pair{"psycopg2", "psycopg2-binary"},
    Pair{"serial", "pyserial"},
    Pair{"skimage", "scikit-image"},
    Pair{"sklearn", "scikit-learn"},
    Pair{"telegram", "python-telegram-bot"},
    Pair{"umap", "umap-learn"},
    Pair{"usb", "pyusb"},
    Pair{"yaml", "PyYAML"},
    Pair{"zmq", "pyzmq"},
};

} // namespace

std::string package_of(std::string_view module) {
    const std::string_view top = module.substr(0, module.find('.'));
    const auto* found = std::find_if(module_packages.begin(), module_packages.end(),
                                     [top](const Pair& each) { return each.first == top; });
    return std::string(found == module_packages.end() ? top : found->second);
}

} // namespace cellgate::packages
