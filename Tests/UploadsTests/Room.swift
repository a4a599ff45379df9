// The tests of Uploads; its first file replaces this one.
