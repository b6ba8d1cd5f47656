"""Planted mistakes: small plugins that are right but for one thing, each with the test that must fail for it."""
