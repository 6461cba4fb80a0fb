internal import HTTPTypes

/// Which web pages may call (Fetch's CORS). Credentials are headers that a page sets itself;
/// cookies are none, so the mode "with credentials" is never allowed.
package struct CrossOrigin: Sendable {
    /// How long a browser may keep the answer to a preflight.
    static let maxAgeSeconds = 7200

    private static let methods = "GET, POST"
    private static let requestHeaders = [
        "authorization", "connect-protocol-version", "connect-timeout-ms", "content-encoding",
        "content-type", "grpc-encoding", "grpc-timeout", "traceparent", "tracestate", "x-api-key",
        "x-grpc-web", "x-user-agent",
    ].joined(separator: ", ")
    private static let answerHeaders = [
        "grpc-message", "grpc-status", "grpc-status-details-bin", "retry-after",
    ].joined(separator: ", ")

    private let listed: [String]
    private let page: (@Sendable () -> [String])?
    private let allowsAll: Bool

    /// Allows pages of these origins, such as `https://app.example.com`; `*` stands for all.
    ///
    /// - Parameter page: returns those of the live page, which has none until its port is bound;
    ///   nil if it may not call.
    package init(origins: [String], page: (@Sendable () -> [String])? = nil) {
        self.listed = origins
        self.page = page
        self.allowsAll = origins.contains("*")
    }

    private var origins: [String] { self.listed + (self.page?() ?? []) }

    /// The answer to a browser's question before a call; nil if the request is none, or pages may
    /// not call at all.
    package func preflight(_ request: DoorRequest) -> DoorResponse? {
        guard !self.origins.isEmpty, request.method == .options,
            let origin = request.headers[.origin],
            request.headers[.accessControlRequestMethod] != nil
        else { return nil }
        guard self.allowed(origin) != nil else {
            var response = DoorResponse.words(
                .forbidden,
                "pages of \(ConnectRefusal.shown(origin)) may not call: http.cors_origins lists "
                    + "those that may")
            self.allow(&response, for: request)
            return response
        }
        var response = DoorResponse(status: .noContent)
        self.allow(&response, for: request)
        response.headers[.accessControlExposeHeaders] = nil
        response.headers[.accessControlAllowMethods] = Self.methods
        response.headers[.accessControlAllowHeaders] = Self.requestHeaders
        response.headers[.accessControlMaxAge] = "\(Self.maxAgeSeconds)"
        return response
    }

    /// Lets the page that asks read an answer. To do so twice is as good as once.
    package func allow(_ response: inout DoorResponse, for request: DoorRequest) {
        guard !self.origins.isEmpty else { return }
        let varies = response.headers[values: .vary].contains { $0.lowercased() == "origin" }
        // Also without an origin: a cache may not give this answer to a page.
        if !self.allowsAll, !varies {
            response.headers.append(HTTPField(name: .vary, value: "Origin"))
        }
        guard let origin = request.headers[.origin], let allowed = self.allowed(origin)
        else { return }
        response.headers[.accessControlAllowOrigin] = allowed
        response.headers[.accessControlExposeHeaders] = Self.answerHeaders
    }

    /// What is said to an origin; nil if it may not call. Origins are compared byte by byte, as
    /// browsers do.
    private func allowed(_ origin: String) -> String? {
        if self.allowsAll { return "*" }
        return self.origins.first { $0.utf8.elementsEqual(origin.utf8) }
    }
}
