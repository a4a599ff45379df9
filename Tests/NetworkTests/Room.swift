// The tests of Network; its first file replaces this one.
