/// What the capabilities share: errors and their codes, the rules of fields, tags and pages, and limits by key.
@_exported import GatewayErrors
