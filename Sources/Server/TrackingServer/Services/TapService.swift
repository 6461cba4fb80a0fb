internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf
internal import Operations
internal import SightlineProtos

/// Implements sightline.v1.TapService: shows a tenant the verdicts on its own events.
struct TapService: Sightline_V1_TapService.SimpleServiceProtocol {
    let verdicts: VerdictTap
    /// The clock for the expiry of the caller's credentials.
    var clock = CredentialClock.system

    func tap(
        request: Sightline_V1_TapRequest, response: RPCWriter<Sightline_V1_TapResponse>,
        context: ServerContext
    ) async throws {
        let caller = context.principal
        let scopes: [Scope] = request.unmasked ? [.tap, .unmask] : [.tap]
        if let missing = scopes.first(where: { !caller.has($0) }) {
            throw ServiceError.scopeMissing(missing).status
        }
        let reader = try self.reader(request, caller.tenant.name)
        try await response.write(Sightline_V1_TapResponse())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in reader.wakes { try await reader.write(to: response) }
                try await reader.write(to: response)
            }
            group.addTask {
                // Ends when the client disconnects or the connection closes.
                try await context.cancellation.cancelled
            }
            if let expiry = caller.expiry {
                group.addTask {
                    try await self.clock.wait(expiry)
                    throw ServiceError.credentialsExpired.status
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        throw ServiceError.closing.status
    }

    private func reader(
        _ request: Sightline_V1_TapRequest, _ tenant: String
    ) throws -> TapReader {
        do {
            let filter = try TapFilter(request, tenant: tenant)
            return try self.verdicts.read(filter, from: .tenant(tenant))
        } catch let error as TapRequestError {
            throw ServiceError.request(error.violation).status
        } catch let refusal as TapRefusal {
            throw ServiceError(refusal).status
        }
    }
}

extension TapReader {
    fileprivate func write(to response: RPCWriter<Sightline_V1_TapResponse>) async throws {
        while let message = self.take() { try await response.write(message) }
    }
}

extension ServiceError {
    /// The client-visible error of a refused reader.
    init(_ refusal: TapRefusal) {
        self =
            switch refusal {
            case .closed: .closing
            case .exceeded(let limit, let key): .tapsExceeded(limit: limit, key: key)
            }
    }
}
