"""The version of this package, which is that of data-gateway."""

VERSION = "0.2.0"
