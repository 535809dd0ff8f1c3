"""Compiled loops: arrays in, arrays out. They raise nothing, hold no state and draw from no global generator."""
