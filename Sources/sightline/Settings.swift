// The proof that Package.swift's strict settings are on: a misspelt feature is silently ignored.
#if !hasFeature(ExistentialAny) || !hasFeature(InternalImportsByDefault) || !hasFeature(MemberImportVisibility)
    #error("a strict setting of Package.swift is off")
#endif
