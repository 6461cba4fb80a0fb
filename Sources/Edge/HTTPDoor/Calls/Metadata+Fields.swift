package import GRPCCore
package import HTTPTypes

extension Metadata {
    /// The fields of a request that its call has to know. All others stay outside: a client of HTTP
    /// sends cookies and many others, and none may name the server's own.
    private static let passed = [
        "authorization", "x-api-key", "traceparent", "tracestate", "user-agent", "grpc-timeout",
    ].compactMap { HTTPField.Name($0) }

    /// The metadata of a call of a request with these header fields.
    package init(of headers: HTTPFields) {
        self.init()
        for field in headers where Self.passed.contains(field.name) {
            self.addString(field.value, forKey: field.name.canonicalName)
        }
    }
}
