import Crypto
import GRPCWire
import RPC

/// Encrypts the texts that the app stores. A text that is moved to another row or column cannot be decrypted.
struct SealedContents: Sendable {
    /// The place of a text in the database.
    enum Place: Sendable {
        case code(String, umid: String)
        case message(requestID: String)
        case answer(requestID: String)

        fileprivate var owner: [UInt8] {
            // Codes, umids and ids contain no space.
            switch self {
            case .code(let key, let umid): Array("code \(key) \(umid)".utf8)
            case .message(let id): Array("message \(id)".utf8)
            case .answer(let id): Array("answer \(id)".utf8)
            }
        }
    }

    private let values: SealedValues

    /// - Parameter key: 32 bytes, for this purpose only.
    init(key: [UInt8]) {
        values = SealedValues(key: key)
    }

    func seal(_ text: String, in place: Place) -> [UInt8] { values.seal(Array(text.utf8), of: place.owner) }

    /// - Throws: INTERNAL if the bytes were not sealed for the place.
    func open(_ sealed: [UInt8], in place: Place) throws(RPCError) -> String {
        guard let plain = values.open(sealed, of: place.owner) else {
            throw RPCError(bare: .internalError, "the stored data cannot be decrypted")
        }
        return String(decoding: plain, as: UTF8.self)
    }
}
