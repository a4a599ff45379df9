import Basics

/// The knowledge of a page token about folders on earlier pages of a list.
struct FolderCursor: Sendable, Hashable {
    /// The largest number of folders in a token, which keeps it short.
    private static let mostShown = 32

    /// The highest position when the first page was read.
    let newest: Int64
    /// The comparison of the next object's folder that the next page continues; `nil` = it begins one.
    var examined: ExaminedFolder?
    /// The digests of the folders that the latest pages contain or omit because earlier ones contain them, the latest last.
    private(set) var shown: [String] = []

    init(newest: Int64) {
        self.newest = newest
    }

    /// - Parameter text: of ``text``.
    init?(_ text: Substring) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count >= 2, let newest = Int64(parts[0]) else { return nil }
        self.init(newest: newest)
        examined = ExaminedFolder(parts[1])
        shown = parts.dropFirst(2).map(String.init)
    }

    /// The cursor without spaces.
    var text: String { ([String(newest), examined?.text ?? ""] + shown).joined(separator: ",") }

    /// Adds folders, in the order in which their objects are in the list.
    mutating func add(_ folders: [UploadedFolder]) {
        let latest = folders.suffix(Self.mostShown).map(\.digest)
        shown = Array((shown.filter { !latest.contains($0) } + latest).suffix(Self.mostShown))
    }
}

/// A folder of which some objects were compared, so that the next page continues.
struct ExaminedFolder: Sendable, Hashable {
    let digest: String
    /// The position from which on no object of the folder that precedes the page matches.
    let position: Int64

    init(digest: String, position: Int64) {
        self.digest = digest
        self.position = position
    }

    init?(_ text: Substring) {
        let parts = text.split(separator: ":")
        guard parts.count == 2, let position = Int64(parts[1]) else { return nil }
        self.init(digest: String(parts[0]), position: position)
    }

    var text: String { "\(digest):\(position)" }
}
