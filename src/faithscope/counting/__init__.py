"""The waist of the package: a `Sample` in, `Counts` out."""
