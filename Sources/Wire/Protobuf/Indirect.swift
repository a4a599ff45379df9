/// A message stored by reference, with the value semantics of the message itself.
///
/// Generated code uses it for a message that contains itself, which a Swift struct cannot.
public struct Indirect<Value: Message>: Sendable, Equatable {
    private final class Box: Sendable {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private let box: Box

    public init(_ value: Value) {
        box = Box(value)
    }

    public var value: Value { box.value }

    public static func == (first: Indirect, second: Indirect) -> Bool {
        first.box === second.box || first.value == second.value
    }
}
