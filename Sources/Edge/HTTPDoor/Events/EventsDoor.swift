internal import EventJSON
internal import GRPCCore
internal import HTTPTypes
internal import NIOCore
internal import SightlineProtos
package import TrackingRules
internal import WireFormat

/// `/v1/`: events in JSON, as people and their programs write them, and what tells of it.
///
/// An event is judged, counted and recorded by the same call as one that came by gRPC: this door
/// translates a body into the call's message, and its answer back.
package struct EventsDoor: DoorHandler {
    private let calls: any CallServing
    private let limits: Limits
    private let table: EventTable
    private let description: DoorDescription
    private let crossOrigin: CrossOrigin
    private let bulk: (any TaskExecutor)?

    /// From so many bytes on a body is read and answered by `bulk`: a thousand of the shortest
    /// events, with an answer fifty times as long. A compressed one always is, as it may become a
    /// thousand times as long.
    private static let bulkBytes = 4 << 10

    /// A door to the events of a server with these limits.
    ///
    /// - Parameters:
    ///   - corsOrigins: the origins of web pages that may send; `*` for all.
    ///   - pageOrigins: those of the live page, once they are known; nil if it may not send.
    ///   - bulk: where long bodies are read and answered; nil for where a request's task runs.
    /// - Throws: an error of SwiftProtobuf if the descriptors that were compiled in are damaged.
    package init(
        calls: any CallServing, limits: Limits, corsOrigins: [String] = [],
        pageOrigins: (@Sendable () -> [String])? = nil, bulk: (any TaskExecutor)? = nil
    ) throws {
        self.table = try EventTable.own()
        self.description = DoorDescription(self.table)
        self.bulk = bulk
        self.calls = calls
        self.limits = limits
        self.crossOrigin = CrossOrigin(origins: corsOrigins, page: pageOrigins)
    }

    /// Whether the path is `/v1/` or below it.
    package func takes(_ request: DoorRequest) -> Bool {
        request.path == "/v1" || request.path.hasPrefix("/v1/")
    }

    /// The answer of the path, or to a browser's question before a page sends.
    package func answer(_ request: DoorRequest) async -> DoorResponse {
        if let preflight = self.crossOrigin.preflight(request) { return preflight }
        var response = await self.response(to: request)
        self.allow(&response, for: request)
        return response
    }

    /// Lets a page of an allowed origin read an answer.
    package func allow(_ response: inout DoorResponse, for request: DoorRequest) {
        self.crossOrigin.allow(&response, for: request)
    }

    private func response(to request: DoorRequest) async -> DoorResponse {
        switch request.path {
        case "/v1/events":
            if let other = Self.answer(request, besides: [.post]) { return other }
            let metadata = Metadata(of: request.headers)
            if let refusal = self.calls.refusal(of: metadata, from: request.peer) {
                return Problem(refusal).response()
            }
            let isLong =
                request.body.readableBytes >= Self.bulkBytes
                || request.headers.contains(.contentEncoding)
            guard isLong, let bulk = self.bulk else { return await self.record(request, metadata) }
            return await withTaskExecutorPreference(bulk) {
                // Its client went away while it waited for a thread: nobody reads an answer.
                if Task.isCancelled { return DoorResponse(status: .serviceUnavailable) }
                return await self.record(request, metadata)
            }
        case "/v1", "/v1/":
            return Self.answer(request, besides: [.get, .head]) ?? DoorGreeting.answer(request)
        case "/v1/openapi.json":
            return Self.answer(request, besides: [.get, .head]) ?? self.description.answer()
        default:
            return Problem(
                .notFound, "PATH_UNKNOWN",
                "there is nothing at this path: POST /v1/events records events, GET /v1/ says how"
            ).response()
        }
    }

    /// The answer to another method than a path has; nil if it is one of those.
    private static func answer(
        _ request: DoorRequest, besides methods: [HTTPRequest.Method]
    ) -> DoorResponse? {
        guard !methods.contains(request.method) else { return nil }
        let allowed = (methods.map(\.rawValue) + ["OPTIONS"]).joined(separator: ", ")
        if request.method == .options {
            return DoorResponse(status: .noContent, headers: [.allow: allowed])
        }
        var problem = Problem(
            .methodNotAllowed, "METHOD_NOT_ALLOWED",
            "\(request.method.rawValue.cut(toScalars: 16).printable) is not allowed here: use "
                + methods.map(\.rawValue).joined(separator: " or "))
        problem.headers[.allow] = allowed
        return problem.response()
    }

    // MARK: Recording

    private func record(_ request: DoorRequest, _ metadata: Metadata) async -> DoorResponse {
        do throws(Problem) {
            return try await self.recorded(request, metadata)
        } catch {
            return error.response()
        }
    }

    private func recorded(
        _ request: DoorRequest, _ metadata: Metadata
    ) async throws(Problem) -> DoorResponse {
        let reportsAccepted = try Self.reportsAccepted(request.query)
        guard let form = EventForm(of: request.headers) else {
            throw .mediaType(request.headers[.contentType] ?? "")
        }
        let body: ByteBuffer
        do throws(DoorBodyError) {
            body = try DoorBody.decoded(request, maxBytes: HTTPConfiguration.bodyBytes)
        } catch {
            throw Problem(error)
        }
        let events = try self.events(of: body, form)
        var call = DoorCall(
            method: Sightline_V1_TrackingService.Method.RecordEvents.descriptor,
            metadata: metadata, message: events.message, peer: request.peer)
        call.leavesOutAccepted = !reportsAccepted
        let answer = await self.calls.serve(call)
        guard answer.status.code == .ok, let message = answer.message else {
            throw Problem(answer)
        }
        do {
            let answer = try EventAnswer(
                message, faults: events.faults, reportsAccepted: reportsAccepted, by: self.table)
            return answer.response()
        } catch {
            throw Problem(
                .internalServerError, "INTERNAL_FAILURE",
                "the server has recorded the events and cannot write its answer, which is a bug: "
                    + "report it, and send the same events again to learn their verdicts")
        }
    }

    /// The call's message, and what is wrong with those events that are none. A message that comes
    /// as such is passed on as it is.
    private func events(
        of body: ByteBuffer, _ form: EventForm
    ) throws(Problem) -> (message: ByteBuffer, faults: [Int: EventRequest.Fault]) {
        guard form != .protobuf else { return (body, [:]) }
        let request = body.withUnsafeReadableBytes { bytes in
            Result { () throws(Problem) in
                try EventRequest(bytes, form, by: self.table, limits: self.limits)
            }
        }
        let events = try request.get()
        return (ByteBuffer(bytes: events.message), events.faults)
    }

    /// Whether the query asks for the results of accepted events too.
    private static func reportsAccepted(_ query: String?) throws(Problem) -> Bool {
        let name = "results="
        let parts = (query ?? "").split(separator: "&")
        let values = parts.filter { $0.hasPrefix(name) }.map { $0.dropFirst(name.count) }
        guard let other = values.first(where: { $0 != "all" }) else { return !values.isEmpty }
        throw .malformed(
            "results=\(String(other).cut(toScalars: 32).printable) is unknown: results=all asks "
                + "for the results of accepted events too; leave it out for those of the others")
    }
}
