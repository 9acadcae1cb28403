"""Documents that are made from a Descriptor, and never edited on their own. Pure. Source: chapter 6.8."""
