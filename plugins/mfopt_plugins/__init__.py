"""The built-in plugins of mfopt: strategies, surrogates and maximisers, found through entry points like any other's."""
