// The tests of Database; its first file replaces this one.
