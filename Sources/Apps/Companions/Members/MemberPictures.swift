import Basics
import Crypto
import Database
import Pictures

/// The rules for members' pictures.
struct MemberPictures: Sendable {
    /// The largest picture in bytes.
    static let largest = 2 << 20
    /// The name of the picture of members without one.
    static let standardName = "default.png"
    /// The place of pictures, which the app puts behind `/api`.
    private static let place = "/img/"

    let database: Database
    /// For pictures, which everybody can request without a limit.
    let reads: BackgroundReads

    /// Checks a file, removes its metadata, and gives it a random name. The name and the type that the client sent have no effect.
    static func stored(_ file: [UInt8]) throws -> StoredPicture {
        guard file.count <= largest else {
            throw CompanionFields.invalid("file", "must be at most \(largest >> 20) MiB")
        }
        do {
            let picture = try Picture(file)
            return StoredPicture(
                name: "\(Random.hex(16)).\(picture.format.fileExtension)",
                contentType: picture.format.contentType, content: picture.bytes)
        } catch {
            throw CompanionResult(-1, "\(error)")
        }
    }

    /// Returns the path of a picture, as `img_path` has it.
    static func path(_ name: String?) -> String { place + (name ?? standardName) }

    /// Replaces a member's picture.
    ///
    /// - Returns: its path.
    func replace(of userID: Int64, with file: [UInt8]) async throws -> String {
        let picture = try Self.stored(file)
        try await database.write { connection in
            guard try MemberProfileRecords(connection).find(userID) != nil else { throw CompanionResult.unknownAddress }
            try MemberProfileRecords(connection).setPicture(picture, of: userID)
        }
        return Self.path(picture.name)
    }

    /// Returns the picture of a name: the standard one if no picture has it, since the published app ends without a picture.
    ///
    /// - Returns: `nil` for texts that are no names of pictures.
    func find(_ name: String) async throws -> (picture: StoredPicture, isStandard: Bool)? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let isRandom =
            parts.count == 2 && parts[0].utf8.count == 32 && parts[0].utf8.allSatisfy(\.isASCIILowercaseHexDigit)
        guard isRandom || name == Self.standardName else { return nil }
        if isRandom,
            let found = try await reads.run({ try MemberProfileRecords($0).picture(named: name) })
        {
            return (found, false)
        }
        return (
            StoredPicture(
                name: Self.standardName, contentType: "image/png", content: PackageResources.standard_picture_png), true
        )
    }
}
