import Basics
import CommandLineInterface
import GatewayProto

/// The template of a download's `--name TEMPLATE`: the path of each file below the target folder.
struct DownloadTemplate: ArgumentValue, Hashable, Sendable {
    static let placeholders = "{name}, {stem}, {ext}, {path}, {id}, {device}, {site}, {date}, {time}, {tag:KEY}"
    private static let known: Set = ["name", "stem", "ext", "path", "id", "device", "site", "date", "time"]

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

    /// Returns the names of the folders and of the file. Values are made valid names, so that they cannot lead out of the folder.
    ///
    /// - Throws: if a placeholder has no value, or a name is empty.
    func path(of file: RemoteFile) throws(ClientFailure) -> [String] {
        var missing = ""
        let text = template.text { placeholder in
            if placeholder == "path" { return file.relativePath?.text ?? file.name?.text ?? file.id }
            guard let value = Self.value(placeholder, file), let name = FileName(value) else {
                missing = placeholder
                return nil
            }
            return name.text
        }
        guard let text else {
            throw ClientFailure("object \(file.id) has no {\(missing)}, which --name requires")
        }
        // A path keeps its names, such as one that begins with a dot.
        guard let path = RelativePath(text.split(byte: "/", omittingEmpty: true).joined(separator: "/")) else {
            throw ClientFailure("--name '\(template.source)' makes no file name for object \(file.id)")
        }
        return path.names
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
        // Not every file system allows colons.
        case "time":
            return details.map {
                let time = CivilTime(UnixTime(seconds: $0.createdAtUnix))
                return "\(time.date(separator: ""))T\(time.clock(separator: ""))Z"
            }
        default: return details?.tags[String(placeholder.dropFirst(4))]
        }
    }

    /// Whether the names need more than the fields of RequestDownload's response.
    var needsDetails: Bool { template.placeholders.contains { !["name", "stem", "ext", "path", "id"].contains($0) } }
}
