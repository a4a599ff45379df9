import Synchronization

/// A setting that may change while the gateway runs: a reader gets the whole old value or the whole new one. Copies of the
/// structure that contains it share it, so a change through one copy applies to all.
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

    /// The setting itself, for code that reads it repeatedly.
    package var projectedValue: Live<Value> { self }
}
