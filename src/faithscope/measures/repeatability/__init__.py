"""Repeatability: does another run explain a row alike?"""
