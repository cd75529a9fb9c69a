"""What explainers share: models and their classes, training rows and their columns, blocks, seeds, and manners."""
