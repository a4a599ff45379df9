public import Foundation

/// A stand-in for the parts of the library SwiftyJSON that the app uses.
public struct JSON {
    private let value: Any?

    public init(_ data: Data) {
        value = try? JSONSerialization.jsonObject(with: data)
    }

    private init(value: Any?) {
        self.value = value
    }

    public subscript(name: String) -> JSON { JSON(value: (value as? [String: Any])?[name]) }

    public var intValue: Int { value as? Int ?? 0 }

    public var string: String? { value as? String }
}
