// The tests of Platform; its first file replaces this one.
