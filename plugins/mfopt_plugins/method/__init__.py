"""The toolkit that strategies are made of: models, bounds, improvements, the initial design."""
