"""What explainers share: models, rows of training data, seeds, and manners."""
