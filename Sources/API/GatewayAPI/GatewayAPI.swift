/// The shared interface of the capabilities: errors and their codes, rules for fields, tags and pages, and limits by key.
@_exported public import GatewayFormats
