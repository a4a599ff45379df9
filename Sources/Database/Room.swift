// The room Database; its first file replaces this one.
