"""The parts of the paper: each module's ``run(name, settings)`` gives the outcome of its table or figure."""
