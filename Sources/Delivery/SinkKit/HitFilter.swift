internal import TrackingRules
internal import WireFormat

/// Which hits a sink gets: those that have one of the values in each field that `only` names, and
/// none of the values in any field that `not` names.
package struct HitFilter: Sendable, Equatable {
    /// The wanted kinds by the product's number; what is said of kinds and actions is in them.
    private let kinds: [HitKinds]
    private let tenants: Choice<[UInt8]>
    private let apps: Choice<[UInt8]>
    private let deliveries: Choice<[UInt8]>
    private let platforms: Choice<Platform?>

    /// A field of a hit, by its name in the configuration.
    package enum Field: String, CaseIterable, Sendable {
        /// The tenant that sent the event.
        case tenant
        /// The app's bundle id or package name.
        case app
        /// The product that created the delivery.
        case product
        /// The platform; an event without one has none of the values (D39).
        case platform
        /// The kind of hit.
        case kind
        /// The product's own number for the kind of hit; 0 for an in-app message.
        case action
        /// deliveryId, or an in-app message's message id.
        case delivery

        /// All values that the field can have; nil if it may have any.
        package var values: [String]? {
            switch self {
            case .tenant, .app, .delivery: nil
            case .product: Product.allCases.map(\.name)
            case .platform: Platform.allCases.map(\.name)
            case .kind: HitKind.allCases.map { "\($0.name)" }
            case .action:
                Set(
                    Product.allCases.flatMap { product in
                        HitKind.allCases.map { $0.campaignAction(of: product) }
                    }
                ).sorted().map { "\($0)" }
            }
        }
    }

    /// The values of one field that are wanted, or not.
    private struct Choice<Value: Sendable & Equatable>: Sendable, Equatable {
        /// Empty: any value.
        let only: [Value]
        let not: [Value]

        func takes(_ equals: (Value) -> Bool) -> Bool {
            (self.only.isEmpty || self.only.contains(where: equals))
                && !self.not.contains(where: equals)
        }

        func takes(_ value: Value) -> Bool { self.takes { $0 == value } }
    }

    /// Creates a filter. A value that its field cannot have is one that no hit has.
    package init(only: [Field: [String]], not: [Field: [String]] = [:]) {
        func choice<Value>(_ field: Field, _ value: (String) -> Value) -> Choice<Value> {
            Choice(only: (only[field] ?? []).map(value), not: (not[field] ?? []).map(value))
        }
        self.tenants = choice(.tenant) { Array($0.utf8) }
        self.apps = choice(.app) { Array($0.utf8) }
        self.deliveries = choice(.delivery) { Array($0.utf8) }
        self.platforms = choice(.platform) { name in
            Platform.allCases.first { $0.name == name }
        }
        let products = choice(.product) { $0 }
        let kinds = choice(.kind) { $0 }
        let actions = choice(.action) { $0 }
        self.kinds = Product.allCases.map { product in
            guard products.takes(product.name) else { return [] }
            return HitKind.allCases.reduce(into: HitKinds()) { wanted, kind in
                guard kinds.takes("\(kind.name)"),
                    actions.takes("\(kind.campaignAction(of: product))")
                else { return }
                wanted.formUnion(HitKinds(kind))
            }
        }
    }

    /// The kinds of an event's hits that pass.
    func kinds(of event: JournalEvent, _ request: Hit.Request) -> HitKinds {
        let wanted = self.kinds[Int(event.product.rawValue)].intersection(event.kinds)
        if wanted.isEmpty { return [] }
        guard self.tenants.takes({ request.tenant.equals($0) }),
            self.apps.takes({ event.appID.equals($0) }),
            self.deliveries.takes({ event.deliveryID.equals($0) }),
            self.platforms.takes(event.platform)
        else { return [] }
        return wanted
    }
}
