/// A stand-in for the library SSZipArchive, which the app imports and does not use.
public enum SSZipArchive {}
