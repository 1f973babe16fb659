"""The annotations of the protocol's messages are those of the schemas."""

import unittest

import protocol_types


class Types(unittest.TestCase):
    def test_the_types_are_those_of_the_schemas(self):
        self.assertEqual(protocol_types.TYPES.read_text(), protocol_types.make(),
                         "to write them again: python3 tests/e2e/neovim/protocol_types.py")


if __name__ == "__main__":
    unittest.main()
