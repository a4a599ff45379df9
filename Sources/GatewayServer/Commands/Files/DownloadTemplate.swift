import Basics
import CommandLineInterface

/// `--name TEMPLATE` of a download: the path of each file below the target folder.
struct DownloadTemplate: ArgumentValue, Hashable, Sendable {
    static let placeholders = "{name}, {stem}, {ext}, {id}, {device}, {site}, {date}, {time}, {tag:KEY}"
    private static let known: Set = ["name", "stem", "ext", "id", "device", "site", "date", "time"]

    private let template: TextTemplate

    init(argument: String) throws(ArgumentProblem) {
        do throws(TextTemplate.Problem) {
            template = try TextTemplate(argument)
        } catch {
            throw ArgumentProblem(error.predicate)
        }
        for name in template.placeholders where !Self.known.contains(name) && !name.hasPrefix("tag:") {
            throw ArgumentProblem("has the unknown placeholder {\(name)}: known are \(Self.placeholders)")
        }
    }

    /// The names of the folders and of the file; what a value says becomes a name, never a way out of the folder.
    ///
    /// - Throws: where a placeholder has no value, or a name is left empty.
    func path(of file: RemoteFile) throws(ClientFailure) -> [FileName] {
        var missing = ""
        let text = template.text { placeholder in
            guard let value = Self.value(placeholder, file), let name = FileName(value) else {
                missing = placeholder
                return nil
            }
            return name.text
        }
        guard let text else {
            throw ClientFailure("object \(file.id) has no {\(missing)}, which --name requires")
        }
        let names = text.split(separator: "/").map { FileName($0) }
        let valid = names.compactMap { $0 }
        guard !valid.isEmpty, valid.count == names.count else {
            throw ClientFailure("--name '\(template.source)' makes no file name for object \(file.id)")
        }
        return valid
    }

    private static func value(_ placeholder: String, _ file: RemoteFile) -> String? {
        let name = file.name?.text
        let tail = file.name.map { $0.fileExtension.utf8.count } ?? 0
        let details = file.details
        switch placeholder {
        case "id": return file.id
        case "name": return name
        case "stem": return name.map { tail > 0 ? String($0.dropLast(tail + 1)) : $0 }
        case "ext": return tail > 0 ? name.map { String($0.suffix(tail)) } : nil
        case "device": return details.flatMap { $0.deviceID.isEmpty ? nil : $0.deviceID }
        case "site": return details.map { "\($0.siteID)" }
        case "date": return details.map { CivilTime(UnixTime(seconds: $0.createdAtUnix)).date() }
        // Colons are not for every file system.
        case "time":
            return details.map {
                let time = CivilTime(UnixTime(seconds: $0.createdAtUnix))
                return "\(time.date(separator: ""))T\(time.clock(separator: ""))Z"
            }
        default: return details?.tags[String(placeholder.dropFirst(4))]
        }
    }

    /// Whether the names need more than what RequestDownload tells.
    var needsDetails: Bool { template.placeholders.contains { !["name", "stem", "ext", "id"].contains($0) } }
}
