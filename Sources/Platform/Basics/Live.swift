/// A setting that may change while the gateway runs: who reads it gets the old value or the new one, whole. Copies of the
/// structure that it stands in share it, so what is set through one of them holds for all.
@propertyWrapper
package final class Live<Value: Sendable>: Sendable {
    private let current: Lock<Value>

    package init(wrappedValue: Value) {
        current = Lock(wrappedValue)
    }

    package var wrappedValue: Value {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// The setting itself, for who reads it again and again.
    package var projectedValue: Live<Value> { self }
}
