// The tests of Catalog; its first file replaces this one.
