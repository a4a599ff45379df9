/// Conversion of FieldMask paths between field names and JSON's spelling.
enum FieldMaskText {
    /// Converts to camel case; `nil` if converting back would give another path.
    static func camel(_ path: String) -> String? {
        if path.isEmpty { return nil }
        var camel = ""
        var raises = false
        for character in path.unicodeScalars {
            switch character {
            // A comma would split it into two paths.
            case "A"..."Z", ",": return nil
            case "_":
                if raises { return nil }
                raises = true
            case "a"..."z":
                camel.append(raises ? String(character).uppercased() : String(character))
                raises = false
            default:
                if raises { return nil }
                camel.unicodeScalars.append(character)
            }
        }
        return raises ? nil : camel
    }

    /// Converts from camel case; `nil` for empty text or text with an underscore, which camel case never has.
    static func snake(_ camel: String) -> String? {
        if camel.isEmpty { return nil }
        var path = ""
        for character in camel.unicodeScalars {
            switch character {
            case "_": return nil
            case "A"..."Z": path += "_" + String(character).lowercased()
            default: path.unicodeScalars.append(character)
            }
        }
        return path
    }
}
