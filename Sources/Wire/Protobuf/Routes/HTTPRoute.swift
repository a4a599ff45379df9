/// One HTTP request that calls a method: what the method's annotation `google.api.http` says, or one of its additional
/// bindings (google/api/http.proto, "HttpRule").
public struct HTTPRoute: Sendable {
    /// The part of the request message that the body is.
    public enum Body: Sendable, Hashable {
        /// There is no body.
        case none
        /// All fields that are not in the path: `*`.
        case whole
        /// The field of this name, which is a message.
        case field(String)
    }

    public let method: MethodDescriptor
    /// The HTTP method, e.g. `GET`.
    public let httpMethod: String
    public let template: RouteTemplate
    public let body: Body
    /// The response's field that the body of the response is; `nil` = the whole response.
    public let responseBody: String?
    /// The full names of what goes in and what comes out.
    public let input: String
    public let output: String
    public let style: RESTStyle

    public init(
        _ method: MethodDescriptor, _ httpMethod: String, _ template: RouteTemplate, body: Body = .none,
        responseBody: String? = nil, messages: (input: String, output: String), style: RESTStyle = RESTStyle()
    ) {
        self.method = method
        self.httpMethod = httpMethod
        self.template = template
        self.body = body
        self.responseBody = responseBody
        (input, output) = messages
        self.style = style
    }
}

/// How a service looks over REST: the option `archebase.http.v1.http_style` of the service.
public struct RESTStyle: Sendable, Hashable {
    /// The JSON of a failure; `HTTPStyle.Errors` in http_style.proto shows each.
    public enum Errors: Sendable, Hashable {
        case status
        case nested
        case http
        case codeMsg
        case message
    }

    public var errors = Errors.status
    public var unset = UnsetFields.omitted
    /// The names of fields are those of the file, in place of lowerCamelCase.
    public var protoNames = false
    /// Members and parameters that the request does not have are ignored.
    public var ignoresUnknown = false
    public var takesForms = false
    /// A body that begins with `{` is JSON, whatever its content type is.
    public var sniffsJSON = false
    /// The HTTP status of every failure but 401; 0 = that of the error's code.
    public var failureStatus = 0

    public init(
        errors: Errors = .status, unset: UnsetFields = .omitted, protoNames: Bool = false, ignoresUnknown: Bool = false,
        takesForms: Bool = false, sniffsJSON: Bool = false, failureStatus: Int = 0
    ) {
        self.errors = errors
        self.unset = unset
        self.protoNames = protoNames
        self.ignoresUnknown = ignoresUnknown
        self.takesForms = takesForms
        self.sniffsJSON = sniffsJSON
        self.failureStatus = failureStatus
    }
}

/// What JSON has for the fields of a message that are not set.
public enum UnsetFields: Sendable, Hashable {
    case omitted
    /// `false`, `0`, `""`, `[]` and `{}`.
    case initial
    /// The values of `initial`, and `null` for a field with presence that is in no oneof.
    case null
}
