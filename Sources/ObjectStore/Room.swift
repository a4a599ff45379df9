// The room ObjectStore; its first file replaces this one.
