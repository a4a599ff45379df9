/// An HTTP request that calls a method: the method's annotation `google.api.http`, or one of its additional bindings
/// (google/api/http.proto, "HttpRule").
public struct HTTPRoute: Sendable {
    /// The part of the request message that is sent as the body.
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
    /// The response's field that is sent as the body; `nil` = the whole response.
    public let responseBody: String?
    /// The full names of the request and response messages.
    public let input: String
    public let output: String
    public var style: RESTStyle
    public let response: RESTResponse

    public init(
        _ method: MethodDescriptor, _ httpMethod: String, _ template: RouteTemplate, body: Body = .none,
        responseBody: String? = nil, messages: (input: String, output: String), style: RESTStyle = RESTStyle(),
        response: RESTResponse = RESTResponse()
    ) {
        self.method = method
        self.httpMethod = httpMethod
        self.template = template
        self.body = body
        self.responseBody = responseBody
        (input, output) = messages
        self.style = style
        self.response = response
    }
}

/// The form of successful responses: `archebase.http.v1.http_response` of the method.
public struct RESTResponse: Sendable, Hashable {
    /// The HTTP status, unless the handler says another one.
    public let status: Int
    /// The media types of a response that is a `google.api.HttpBody`; empty = any.
    public let contentTypes: [String]
    /// Whether a request can ask for a range of the bytes.
    public let takesRanges: Bool

    public init(status: Int = 200, contentTypes: [String] = [], takesRanges: Bool = false) {
        self.status = status
        self.contentTypes = contentTypes
        self.takesRanges = takesRanges
    }
}

/// The options of a service's REST form: `archebase.http.v1.http_style` of the service.
public struct RESTStyle: Sendable, Hashable {
    /// The JSON of an error; `HTTPStyle.Errors` in http_style.proto shows each.
    public enum Errors: Sendable, Hashable {
        case status
        case nested
        case http
        case codeMsg
        case message
        /// `{"success":false,"statusCode":404,"message":…,"errorCode":"NOT_FOUND"}`. Successful responses in JSON are then
        /// `{"success":true,"data":…,"timestamp":…}`. No annotation selects it; an app's configuration can.
        case envelope
    }

    public var errors = Errors.status
    public var unset = UnsetFields.omitted
    /// Whether fields have the names of the .proto file instead of lowerCamelCase.
    public var protoNames = false
    /// Whether unknown members and parameters are ignored.
    public var ignoresUnknown = false
    public var takesForms = false
    /// Whether a body that begins with `{` is JSON independent of its content type.
    public var sniffsJSON = false
    /// The HTTP status of every error except 401; 0 = the status of the error's code.
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

/// The JSON of fields that are not set.
public enum UnsetFields: Sendable, Hashable {
    case omitted
    /// `false`, `0`, `""`, `[]` and `{}`.
    case initial
    /// The values of `initial`, and `null` for a field with presence outside of a oneof.
    case null
}
