internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
package import SightlineClient
package import SightlineProtos
internal import SwiftProtobuf

/// The commands' unary calls and the tap.
package struct TrackingClient: Sendable {
    private typealias Service =
        Sightline_V1_TrackingService.Client<HTTP2ClientTransport.Posix>

    private let address: ServerAddress
    private let timeout: Duration
    private let security: ClientSecurity
    private let credential: ClientCredential?

    /// Creates a client of `address`. Each call opens its own connection with `security`, and sends
    /// the `credential`; a call may take `timeout`.
    package init(
        address: ServerAddress, timeout: Duration, security: ClientSecurity = ClientSecurity(),
        credential: ClientCredential? = nil
    ) {
        self.address = address
        self.timeout = timeout
        self.security = security
        self.credential = credential
    }

    /// Explains events without recording them.
    ///
    /// - Throws: `TrackingClientError`, `SightlineClientError`.
    package func explain(
        _ events: [Sightline_V1_TrackingEvent]
    ) async throws -> Sightline_V1_ExplainEventsResponse {
        let message = Sightline_V1_ExplainEventsRequest.with { $0.events = events }
        return try await self.call { client, metadata, options in
            try await Service(wrapping: client).explainEvents(
                message, metadata: metadata, options: options)
        }
    }

    /// Inspects the JSON text of a payload.
    ///
    /// - Throws: `TrackingClientError`, `SightlineClientError`.
    package func inspect(
        json: String, platform: Sightline_V1_Platform
    ) async throws -> Sightline_V1_InspectPayloadResponse {
        let message = Sightline_V1_InspectPayloadRequest.with {
            $0.json = json
            $0.platform = platform
        }
        return try await self.call { client, metadata, options in
            try await Service(wrapping: client).inspectPayload(
                message, metadata: metadata, options: options)
        }
    }

    /// Asks the server to explain a delivery's figures.
    ///
    /// - Throws: `TrackingClientError`, `SightlineClientError`.
    package func explainDelivery(
        _ delivery: String
    ) async throws -> Sightline_V1_ExplainDeliveryResponse {
        let message = Sightline_V1_ExplainDeliveryRequest.with { $0.deliveryID = delivery }
        return try await self.call { client, metadata, options in
            try await Service(wrapping: client).explainDelivery(
                message, metadata: metadata, options: options)
        }
    }

    /// Puts totals of at most 1,000 deliveries.
    ///
    /// - Throws: `TrackingClientError`, `SightlineClientError`.
    package func put(
        _ deliveries: [Sightline_V1_DeliveryTotals]
    ) async throws -> Sightline_V1_PutDeliveriesResponse {
        let message = Sightline_V1_PutDeliveriesRequest.with { $0.deliveries = deliveries }
        return try await self.call { client, metadata, options in
            let service = Sightline_V1_DeliveryService.Client(wrapping: client)
            return try await service.putDeliveries(message, metadata: metadata, options: options)
        }
    }

    /// The health of a service; the empty name is the whole server.
    ///
    /// - Throws: `TrackingClientError`, `refused` for an unknown service; `SightlineClientError`.
    package func health(
        of service: String
    ) async throws -> Grpc_Health_V1_HealthCheckResponse.ServingStatus {
        let message = Grpc_Health_V1_HealthCheckRequest.with { $0.service = service }
        return try await self.call { client, metadata, options in
            let health = Grpc_Health_V1_Health.Client(wrapping: client)
            return try await health.check(message, metadata: metadata, options: options).status
        }
    }

    /// Reads verdicts as they are given, until the server ends the call.
    ///
    /// - Parameter show: called for each response, in order.
    /// - Throws: `TrackingClientError`, `SightlineClientError`.
    package func tap(
        _ request: Sightline_V1_TapRequest,
        show: @escaping @Sendable (Sightline_V1_TapResponse) throws -> Void
    ) async throws {
        try await self.call(isEndless: true) { client, metadata, options in
            let service = Sightline_V1_TapService.Client(wrapping: client)
            try await service.tap(request, metadata: metadata, options: options) { answer in
                for try await response in answer.messages { try show(response) }
            }
        }
    }

    private func call<Answer: Sendable>(
        isEndless: Bool = false,
        _ body:
            @Sendable (
                GRPCClient<HTTP2ClientTransport.Posix>, Metadata, CallOptions
            ) async throws -> Answer
    ) async throws -> Answer {
        var options = CallOptions.defaults
        options.timeout = isEndless ? nil : self.timeout
        let transport = try self.security.transport(to: self.address)
        let metadata = try self.credential?.metadata ?? [:]
        do {
            return try await withGRPCClient(transport: transport) { client in
                try await body(client, metadata, options)
            }
        } catch {
            try Task.checkCancellation()
            throw TrackingClientError(
                StreamFailure(error, security: self.security), target: self.address.description)
        }
    }
}
