internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Refuses requests with a wrong method or host, and adds security headers to every answer.
struct AdminGate<Context: RequestContext>: RouterMiddleware {
    /// Accepted host names in lower case, besides localhost and IP addresses.
    let hostNames: [String]

    func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        if let refusal = self.refusal(of: request) {
            response = refusal
        } else {
            do {
                response = try await next(request, context)
            } catch let error as any HTTPResponseError {
                response = AdminAnswer.text(error.status, "\(error.status)\n")
            }
        }
        response.headers[.cacheControl] = "no-store"
        response.headers[.xContentTypeOptions] = "nosniff"
        // The page brings its own policy; nothing else has anything to run or to show.
        if response.headers[.contentSecurityPolicy] == nil {
            response.headers[.contentSecurityPolicy] =
                "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        }
        for (name, value) in securityPolicies { response.headers[name] = value }
        return response
    }

    private func refusal(of request: Request) -> Response? {
        guard self.isOwnName(request.head.authority ?? "") else {
            return AdminAnswer.text(
                .misdirectedRequest,
                "421: this server is not asked by that name: ask for it by its IP address or as "
                    + "localhost, or put the name into admin.host_names\n")
        }
        guard request.method == .get || request.method == .head else {
            var answer = AdminAnswer.text(
                .methodNotAllowed, "405: nothing is changed here: send GET or HEAD\n")
            answer.headers[.allow] = "GET, HEAD"
            return answer
        }
        return nil
    }

    /// Whether a Host header names this server. Otherwise another site could point its own name
    /// here (DNS rebinding) and read the answers; it cannot do so with an IP address.
    func isOwnName(_ authority: String) -> Bool {
        let port = authority.lastIndex { !$0.isASCII || !$0.isNumber } ?? authority.startIndex
        let hasPort = port < authority.endIndex && authority[port] == ":"
        var host = hasPort ? authority[..<port] : authority[...]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        let name = host.lowercased()
        return name == "localhost" || self.hostNames.contains(name)
            || (try? SocketAddress(ipAddress: name, port: 0)) != nil
    }
}

/// Headers of every answer that HTTPTypes has no names for.
private let securityPolicies = [
    ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
].compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }
