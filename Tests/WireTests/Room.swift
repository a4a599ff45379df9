// The tests of Wire; its first file replaces this one.
