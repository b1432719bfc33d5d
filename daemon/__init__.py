"""trimtab's daemon: everything with a side effect.  Importing it does nothing."""

__version__ = "0.1.0"
