"""The generator of every training text: nothing in it is copied from elsewhere, everything follows from a seed."""
