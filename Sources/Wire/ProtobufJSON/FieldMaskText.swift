/// The text of a FieldMask's paths, whose segments are spelled as fields are in JSON.
enum FieldMaskText {
    /// `nil` when reading the text back would give another path.
    static func camel(_ path: String) -> String? {
        if path.isEmpty { return nil }
        var camel = ""
        var raises = false
        for character in path.unicodeScalars {
            switch character {
            // A comma would divide it into two paths, of which one may be empty.
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

    /// `nil` for text with an underscore, which JSON's spelling never has, or for none.
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
