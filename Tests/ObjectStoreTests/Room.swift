// The tests of ObjectStore; its first file replaces this one.
