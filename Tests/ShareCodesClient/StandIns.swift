/// Stand-ins for the types of SwiftUI and Combine, which Linux does not have.
protocol View {}

protocol ObservableObject: AnyObject {}

@propertyWrapper final class State<Value> {
    var wrappedValue: Value

    init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

/// Settings of the app by key.
@propertyWrapper final class AppStorage {
    nonisolated(unsafe) static var values: [String: String] = [:]  // set once, before the app's code runs

    private let key: String
    private let standard: String

    init(wrappedValue: String, _ key: String) {
        self.key = key
        standard = wrappedValue
    }

    var wrappedValue: String {
        get { Self.values[key] ?? standard }
        set { Self.values[key] = newValue }
    }
}
