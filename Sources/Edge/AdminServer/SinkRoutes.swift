internal import AdminProtocol
internal import Delivery
internal import HTTPTypes
internal import Hummingbird

/// The sinks' paths on the admin socket: pause, resume, forget and replay.
struct SinkRoutes: Sendable {
    let sinks: any SinkOperator

    func add(to router: Router<BasicRequestContext>) {
        router.post("/sinks/:name/pause") { _, context in
            try await self.answer { try self.pause(context, true) }
        }
        router.post("/sinks/:name/resume") { _, context in
            try await self.answer { try self.pause(context, false) }
        }
        router.post("/sinks/:name/forget") { _, context in
            try await self.answer {
                let name = try context.parameters.require("name")
                try await self.sinks.forget(name)
                return try AdminAnswer.json(.ok, SinkForgottenAnswer(name: name))
            }
        }
        router.post("/sinks/:name/replay") { request, context in
            try await self.answer { try await self.replay(request, context) }
        }
    }

    private func pause(
        _ context: BasicRequestContext, _ isPaused: Bool
    ) throws -> Response {
        let state = try self.sinks.state(try context.parameters.require("name"))
        if isPaused { state.pause() } else { state.resume() }
        return try AdminAnswer.json(.ok, SinkPauseAnswer(name: state.name, isPaused: isPaused))
    }

    /// Replays the hits kept since `since`, or those in `file`, or dead letters.
    private func replay(
        _ request: Request, _ context: BasicRequestContext
    ) async throws -> Response {
        let name = try self.sinks.state(try context.parameters.require("name")).name
        let query = request.uri.queryParameters
        if let since = query["since"] {
            guard let since = Int64(since) else {
                return AdminAnswer.text(.badRequest, "since has to be microseconds since 1970")
            }
            return try AdminAnswer.json(
                .ok, try await self.sinks.replayHits(to: name, since: since))
        }
        if let file = query["file"] {
            // A relative path would be one of the server's own folder.
            guard file.hasPrefix("/") else {
                return AdminAnswer.text(.badRequest, "file has to be an absolute path")
            }
            return try AdminAnswer.json(
                .ok, try await self.sinks.replayFile(String(file), to: name))
        }
        let limit = query["limit"].map { Int($0) } ?? .max
        guard let limit, limit > 0 else {
            return AdminAnswer.text(.badRequest, "limit has to be a number above 0")
        }
        let counts = try await self.sinks.replayLetters(
            to: name, refusedBy: query["from"].map(String.init) ?? name, limit: limit)
        return try AdminAnswer.json(.ok, counts)
    }

    private func answer(_ body: () async throws -> Response) async throws -> Response {
        do {
            return try await body()
        } catch let error as SinkOperationError {
            switch error {
            case .unknownSink, .unknownFormerSink: return AdminAnswer.text(.notFound, "\(error)")
            case .busy, .inUse: return AdminAnswer.text(.conflict, "\(error)")
            }
        } catch let error as any HTTPResponseError {
            throw error
        } catch {
            return AdminAnswer.text(.serviceUnavailable, "\(error)")
        }
    }
}
