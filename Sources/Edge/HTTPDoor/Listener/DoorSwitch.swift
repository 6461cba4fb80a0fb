internal import HTTPTypes

/// Gives each request to the first door that takes it.
package struct DoorSwitch: Sendable {
    /// A door with its name in metrics.
    package struct Row: Sendable {
        let name: @Sendable (DoorRequest) -> Door
        let handler: any DoorHandler

        /// Creates a row.
        package init(_ name: Door, _ handler: any DoorHandler) {
            self.name = { _ in name }
            self.handler = handler
        }

        /// Creates a row of the door for Connect and gRPC-Web, which the content type tells apart.
        package init(connect handler: any DoorHandler) {
            self.name = { request in
                let type = MediaType(of: request.headers).name
                return type.hasPrefix("application/grpc-web") ? .grpcWeb : .connect
            }
            self.handler = handler
        }
    }

    private let rows: [Row]

    /// Creates a switch; of two doors that take a request, the first one gets it.
    package init(_ rows: [Row]) { self.rows = rows }

    /// Who answers a request, found once: its door, or none.
    package func choice(for request: DoorRequest) -> Choice {
        guard let row = self.rows.first(where: { $0.handler.takes(request) }) else {
            return Choice(door: .other, handler: nil)
        }
        return Choice(door: row.name(request), handler: row.handler)
    }

    /// A door that takes a request, or that none does.
    package struct Choice: Sendable {
        /// Its name in metrics.
        package let door: Door
        fileprivate let handler: (any DoorHandler)?

        /// Lets a page read an answer of the listener to that request.
        package func allow(_ response: inout DoorResponse, for request: DoorRequest) {
            self.handler?.allow(&response, for: request)
        }

        /// The answer to the request that it was chosen for.
        package func answer(_ request: DoorRequest) async -> DoorResponse {
            if let handler { return await handler.answer(request) }
            return .problem(
                .notFound,
                "this is the HTTP port of Sightline, and nothing is at this path: events go to "
                    + "POST /v1/events, and GET /v1/openapi.json describes them; methods of gRPC "
                    + "are at POST /sightline.v1.TrackingService/… in Connect or gRPC-Web")
        }
    }
}
