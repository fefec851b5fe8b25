"""Wire protocols and file formats: between bytes and frozen values, without I/O."""
