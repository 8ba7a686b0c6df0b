/** Words by which a statement denies something, by language. Conditions, exceptions and limits must match `hedge`. */
export interface DenialWords {
  /** Stands before what another thing takes the place of: "instead of". */
  readonly instead: RegExp;
  /** Stands before what is denied, or before the verb: "no longer use", "never". */
  readonly before: RegExp;
  /** Gives something up: what a negation stands before is kept. */
  readonly drops: RegExp;
  /** Follow what is denied: "is no longer used". */
  readonly after?: RegExp;
  readonly hedge: RegExp;
  /** Begins a reason, which says nothing about what holds. */
  readonly reason: RegExp;
}

export const DENIALS: Readonly<Record<string, DenialWords>> = {
  en: {
    instead:
      /\b(?:instead of|rather than|in place of|replaces|(?<=^\S+ )replaced)(?= )|(?:,| and) (?:not|no longer)(?= )|\b(?:chose|choose|pick|picked|prefer|preferred|went with|go with|used?|using) \S+(?: \S+){0,4}? over(?= )(?! (?:the|an?|https?|tls|ssl|tcp|udp|ip|ssh|quic|websockets?|stdio|stdin|stdout|sockets?|unix|rest|rpc|grpc|amqp|mqtt|wifi|vpn)(?![\w-]))/giu,
    before:
      /\b(?:no longer|never|(?:do|does|must|should|shall|can|will) not(?: ever)?|(?:don|doesn|mustn|shouldn|can|won)['’]?t(?: ever)?|cannot|(?:are|am|['’]re|['’]m) not(?= using))(?= )|(?:^|[,:(] ?|\b(?:and|but|with|use|allow|there is|there are) )no(?: more)?(?= )/giu,
    drops:
      /\b(?:stop(?:ped|s)? using|drop(?:ped|s)?|removed?|ditch(?:ed)?|abandon(?:ed)?|phased? out|retired?|replaced?|avoid|g[eo]t rid of|decided against|(?:switch|move|migrate|change)(?:d|ed)?(?: away| over)?(?<topic>(?: [\w.-]+){0,4}?) from|(?:switch|move|migrate)(?:d|ed)? off|without)(?= )/giu,
    after:
      / (?:(?:is|are|was|were) (?:no longer (?:used|needed|allowed)|not (?:used|allowed)|out(?! of)|out of `?(?:[\w/-]*\.\w+|the (?:project|package|build|bundle|dependencies))|gone|dropped|removed|replaced|forbidden|banned)|(?:has|have) been (?:dropped|removed|replaced|retired))\b/giu,
    hedge:
      /\?|\b(?:if|unless|until|except|yet|otherwise|whenever|for now|for the (?:moment|time being)|temporarily|would|could|might|(?:no|not) (?:more|less|later|fewer|longer) than|no (?:need|matter|doubt|one|idea|problem)|not (?:only|just|necessarily|sure|even)|than later)\b|\b(?:no|not|never|n['’]t)\b.*\bwithout\b/iu,
    reason: /\b(?:because|since|so that|due to|as it|as they|so)\b/iu,
  },
  de: {
    instead:
      /(?<!\p{L})(?:(?:an)?statt|anstelle (?:von|der|des)|an Stelle von|an stelle von|und nicht)(?= )|, nicht(?= )/giu,
    before:
      /(?<!\p{L})(?:nie(?:mals)?|kein(?:e[nmrs]?)?|nicht (?:mehr|länger)(?= (?:mit|in|auf|über|als) ))(?= )/giu,
    drops:
      /(?<!\p{L})(?:ohne|weg von|verzichte(?:n|t)? auf|vermeide(?:n|t)?|entferne(?:n|t)?|ersetze(?:n|t)?|streiche(?:n|t)?|raus mit|tausche(?:n|t)?|von(?= .{1,60} (?:umgestiegen|umgestellt|umgezogen|gewechselt|migriert))|(?:wechsel(?:n|t)?|umstieg|stell(?:e|en|t)?)(?<topic>(?: [\p{L}\d]+){0,2}?) von|(?:ge|um)wechselt von)(?= )/giu,
    after:
      / (?:(?:wird|werden|wurde|wurden|(?:nutzen|verwenden|benutzen|brauchen) wir)? ?(?:nicht mehr|nicht länger|nie mehr|nie wieder)|(?:wird|werden|wurde|wurden|ist|sind) (?:durch \S+ )?(?:nicht (?:verwendet|benutzt|genutzt|erlaubt)|verboten|entfernt|abgeschafft|ersetzt|gestrichen|raus)|nicht (?:verwenden|benutzen|nutzen|einsetzen)|(?:fällt|fallen|entfällt|entfallen)(?: weg)?)(?!\p{L})/giu,
    hedge:
      /\?|(?<!\p{L})(?:wenn|falls|außer|bis|sofern|solange|noch nicht|vorerst|vorläufig|nicht (?:nur|unbedingt)|nicht (?:mehr|länger|weniger|später) als)(?!\p{L})|(?<!\p{L})(?:nie|niemals|kein\p{L}*|nicht)(?!\p{L}).*(?<!\p{L})ohne(?!\p{L})/iu,
    reason: /(?<!\p{L})(?:weil|da|denn|damit|wegen)(?!\p{L})/iu,
  },
  es: {
    instead: /(?<!\p{L})(?:en (?:lugar|vez) del?|y no)(?= )|, no(?= )/giu,
    before: /(?<!\p{L})(?:ya no(?: hacen? falta)?|nunca|jamás|no|nada de)(?= )/giu,
    drops:
      /(?<!\p{L})(?:sin|se (?:elimin|quit|abandon|descart)(?:ó|aron)|dejar? de usar|deja(?:mos)? de usar|reemplaza(?:r|mos|do)?|sustitu(?:ir|ye|imos)|(?:cambia|pasa|migra|mueve|mov)(?:r|mos|do|imos|ido)?(?<topic>(?: [\p{L}\d]+){0,3}?) del?|cambi(?:a|ar|é|amos|ado)(?= .{1,40} por )|quita(?:r|mos)?|elimina(?:r|mos|do)?|abandona(?:r|mos|do)?|descarta(?:r|mos|do)?|evita(?:r)?)(?= )/giu,
    after:
      / (?:ya no se (?:usa|utiliza|permite|necesita)n?|se (?:reemplaz|elimin|quit|sustituy|abandon|descart)(?:ó|aron|a|an)|(?:ha sido|fue) (?:reemplaz|elimin|sustitu|descart)[aií]d[oa])(?!\p{L})/giu,
    hedge:
      /\?|(?<!\p{L})(?:si|salvo|excepto|hasta|a menos|mientras|todavía|aún|por ahora|no (?:solo|sólo|necesariamente|más de|menos de))(?!\p{L})|(?<!\p{L})(?:no|nunca)(?!\p{L}).*(?<!\p{L})sin(?!\p{L})/iu,
    reason: /(?<!\p{L})(?:porque|ya que|debido|pues|para que|así)(?!\p{L})/iu,
  },
  fr: {
    instead:
      /(?<!\p{L})(?:au lieu (?:de |du |des |d['’])|à la place (?:de |du |des |d['’])|plutôt (?:que |qu['’])(?:de |d['’])?|(?:et|mais) (?:pas|non|plus) (?:pas )?)|, (?:pas|non|plus) /giu,
    before: /(?<!\p{L})(?:(?:pas|jamais) (?:de |d['’])|n(?:e |['’])(?:pas |plus |jamais )?)/giu,
    drops:
      /(?<!\p{L})(?:sans |remplace[rzs]?|remplaçons |abandonne[rzs]? |abandonnons |supprime[rzs]? |supprimons |retire[rzs]? |(?:retir|supprim|enlev|abandonn)é |évite[rzs]? |arrêter d['’]utiliser |(?:pass|migr|basculé?|déplacé?)(?:e[rzs]?|ons|é)?(?<topic>(?: [\p{L}\d]+){0,3}?) de )/giu,
    after:
      / (?:(?:a|ont) été (?:remplac|supprim|retir|abandonn)ée?s?|(?:n['’](?:est|sont)|ne sont) plus (?:utilis|permis|autoris)(?:ée?s?|e?s?)|est (?:abandonné|supprimé|retiré|interdit)e?)(?!\p{L})/giu,
    hedge:
      /\?|(?<!\p{L})(?:si|sauf|jusqu['’]|tant que|à moins|encore|pour l['’]instant|pas (?:seulement|forcément|plus de|moins de))(?!\p{L})|(?<!\p{L})(?:pas|jamais)(?!\p{L}).*(?<!\p{L})sans(?!\p{L})/iu,
    reason: /(?<!\p{L})(?:parce|car|puisque|afin|pour que|à cause)(?!\p{L})/iu,
  },
  pt: {
    instead:
      /(?<!\p{L})(?:(?:em vez|ao invés|no lugar) d[eoa]s?|e não(?: mais)?)(?= )|, não(?: mais)?(?= )/giu,
    before: /(?<!\p{L})(?:não|nunca|jamais|nada de)(?= )/giu,
    drops:
      /(?<!\p{L})(?:sem|deixar? de usar|deixamos de usar|parar de usar|substitu(?:ir|ímos|a)|troca(?:r|mos)?(?: d[eoa])?|(?:muda|migra|move)(?:r|mos)?(?<topic>(?: [\p{L}\d]+){0,3}?) d[eoa]|remove[rm]?|removemos|abandona(?:r|mos)?|descarta(?:r|mos)?|evita(?:r)?|evite)(?= )/giu,
    after:
      / (?:não (?:é|são) mais (?:usad|permitid)[oa]s?|(?:foi|foram) (?:substituíd|removid|abandonad|descartad|retirad)[oa]s?)(?!\p{L})/giu,
    hedge:
      /\?|(?<!\p{L})(?:se|salvo|exceto|até|a menos|enquanto|ainda|por enquanto|não (?:só|apenas|necessariamente|mais de|menos de))(?!\p{L})|(?<!\p{L})(?:não|nunca)(?!\p{L}).*(?<!\p{L})sem(?!\p{L})/iu,
    reason: /(?<!\p{L})(?:porque|pois|já que|devido|para que)(?!\p{L})/iu,
  },
};

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Verbs that only say that something is used, in any of the languages. */
export const USES = words(
  `put puts use uses used using take takes pick picks picked choose chose chosen adopt adopts adopted keep keeps kept go goes went
  rely relies depend depends need needs run runs store stores stored written write build builds built
  prefer prefers stay stick allow allows stand speak speaks live lives
  verwende verwenden verwendet benutze benutzen benutzt nutze nutzen nutzt genutzt nehmen nimm nimmt nehme setzen setze setzt
  brauchen läuft laufen einsetzen eingesetzt speichern gespeichert liegen liegt schreiben
  usa usar usamos use usen usemos uses usando utiliza utilizar utilizamos utilice utilizando usará elegimos elige guarda guardar
  guardamos corre corren adoptamos adopta se
  utilise utiliser utilisons utilisez utilisé utiliserons prend prenons prends choisir choisi adoptons adopte stocke stockons garde passe passent
  on nous besoin
  necesita necesitan necesitamos está están fica ficam precisa precisam precisamos está estão faz
  usam usando utilizem utilizamos utilizado adotar adotamos escolhemos guardamos guarda roda rodam mais`,
);

/** Words that may stand before the name of what is used: "stored in Redis", "through Drizzle". */
export const BY = words(
  `with through via by in on using as mit über durch per auf als con mediante como en avec par dans sur comme com em por no na nos nas pelo pela pelos pelas`,
);

/** Words that begin where something holds: "for the unit tests". */
export const WHERE = words(
  `for in on within inside under during at around für in im ins bei beim unter auf innerhalb während para en dentro durante bajo
  pour dans sous pendant chez em no na nos nas between zwischen entre of über um from where wo donde où onde aus aus vom von`,
);

export const EMPTY_WORDS = words(
  `a an the this that these those our any all some other another new old own its it them they we i you user please now always
  will shall must should is are was were be been to and or but actually anymore more here there just plain us let lets now after again actually instead rather
  der die das den dem des ein eine einen einem einer wir ich man jetzt künftig immer bitte und oder aber mehr hier alle unsere von zu
  ist sind wird werden wurde wurden soll sollen nur doch lieber wieder künftig
  el la los las un una unos unas lo nosotros ahora siempre por favor y o pero es son del al de que se mejor
  le les des du l d un une nous on maintenant toujours et ou mais est sont ce cette ces qu plus désormais zurück été
  os as um uma nós agora sempre e ou mas é são do da dos das ao mais melhor mieux`,
);

export const JOINS = words(`and or und oder y o e et ou sowie`);

/** Nouns that only say what kind of thing a name is. */
export const KINDS_OF_THINGS = words(
  `library framework package database db orm dependency dependencies abhängigkeit dependencia dépendance dependência
  bibliothek datenbank paket librería biblioteca bibliothèque`,
);

/** Words between a verb and what is used: "rely on". */
export const USE_WITH = words(
  `on in to from switch move as through via mit auf als über durch pour dans avec comme por de a en con como em no na com`,
);

export const ARTICLES = words(
  `do da du del a an the der die das den dem el la los las le les os as um uma ein eine einen un une una`,
);

export const STOPS = words(
  `with by to from when while auf zu durch gegen por par con à pelo pela any anymore aquí hier here ici aqui directly again wieder`,
);

/** Names what takes the place of something: "replace Express with Fastify". */
export const INSTEAD_BY = words(`with by to durch auf zu gegen por a par à pelo pela contre`);

export const AUXILIARIES = words(
  `is are ist sind wird werden es son est sont é são must should soll sollen debe doit deve`,
);

/** Verbs that begin the use of something: "switch to". */
export const MOVES_TO =
  words(`switch switched move moved migrate migrated go went stick change changed deploy deployed publish
  published send sent ship shipped write written log logged`);

export const VERB_AT_END = words(`wird werden wurde wurden ist sind soll sollen muss müssen`);

/** The Portuguese "no" for "in the". */
export const PORTUGUESE_IN =
  /(?<=(?<!\p{L})(?:ficam?|está|estão|rodam?|guardad[oa]s?|salv[oa]s?)(?: mais)? )no(?= )/giu;

/** Subjects of statements about the whole project, without their plural. */
export const GENERAL_SUBJECTS = words(
  `lib library librarie dependency dependencie deps package tool tooling stack tech technology framework choice decision
  architecture project repo repository codebase general`,
);

/** Words of subjects that name the same matter, without their plural. */
export const MATTERS = [
  'database db storage store stored persistence',
  'date time datetime calendar',
  'log logging logger',
  'http request client fetch network',
  'test testing unit-test',
].map(words);

/** A sentence of the user that replaces what it does not name. */
export const REPLACES_UNNAMED =
  /^The user: (?!.*(?:ではなく|の代わりに|使わな|不要|不再|别用|禁止|而不是))(?:(?:no|nope|nein|nee|non|não)[,.] |.*(?:(?<!\p{L})(?:instead(?! of)|from now on|(?:switch|migrate|change) (?:back |over |everything )?to|wechsel\p{L}* (?:wir )?(?:zu|auf)|(?:cambia|cambiemos|pasa|pasemos) a|pass(?:e|ons|ez) à|(?:mude|muda|migre) para|stattdessen|doch lieber|ab (?:jetzt|sofort)|en su lugar|a partir de ahora|à la place(?! d)|désormais|em vez disso|a partir de agora)(?!\p{L})|今後|これから|に切り替えて|改用|以后|从现在))(?!.*(?<!\p{L})(?:not|instead of|statt|nicht|no|pas|não)(?!\p{L}))/iu;

/** Says since when something holds, in any of the languages. */
export const FROM_NOW_ON =
  /(?<!\p{L})(?:from now on|going forward|after all|ab (?:jetzt|sofort)|von (?:jetzt|nun) an|künftig|in zukunft|a partir de ahora|de ahora en adelante|à partir de maintenant|désormais|dorénavant|a partir de agora|de agora em diante)(?!\p{L}),? ?/giu;

/** Verbs that stand behind what is used. */
export const VERB_LAST = words(`verwenden benutzen nutzen einsetzen nehmen verwendet benutzt genutzt`);

/** Words that may stand between a verb and what is used. */
export const ADVERBS = words(`plain only just nur solo always immer siempre toujours sempre`);

/** What denies a name in Japanese and Chinese; `NAME` stands for the name. */
export const CJK_DENIALS: readonly string[] = [
  String.raw`NAME\s*(?:の代わりに|ではなく|じゃなく|(?:は|を)(?:もう)?(?:使わな|使わず|使っていな|使っていませ|削除し|削除する|外し|使用しな|使いませ|使用禁止|使うのをやめ|やめ|廃止)|は(?:不要|禁止|もう不要)|の(?:使用|利用)(?:は禁止|をやめ|を中止)|から.{1,30}に(?:移行|切り替え|変更|乗り換え)|に(?:は)?(?:もう)?(?:置かな|保存しな|入れな)|より(?:も)?.{1,20}(?:を使|を採用|にする|にし))`,
  String.raw`(?:不(?:再|要)?(?:放|存|保存|存储)(?:在|到|进)|不(?:再|要|要再|准|许|得)?(?:使)?用|别(?:再)?(?:使)?用|禁止(?:使)?用|停止使用|弃用|放弃|去掉|移除|而不(?:是|用)|代替|替代|取代|不采用|不要再用)\s*NAME`,
  String.raw`(?:从|把)\s*NAME\s*(?:切换|迁移|换|改|替换)(?:到|成|为|用)`,
  String.raw`NAME\s*(?:已经?|被|都)*(?:弃用|不再使用|(?:换成|改成|改为|替换为|替换成)了?|(?:被)?(?:移除|删除|去掉)了?)`,
];
export const CJK_USES: readonly string[] = [
  String.raw`NAME\s*(?:を(?:使|利用|採用|用い|導入)|で(?:行|書|実装|管理|統一|処理|保存|テスト|実行)?|に(?:保存|置|入れ|統一|する|します|しま|決|格納))`,
  String.raw`(?:使用|采用|选用|选择|通过|基于|改用|换成|用|由|存(?:储)?(?:在|到)|放(?:在|到))\s*NAME(?!\s*的)`,
];
export const CJK_HEDGE =
  /[?？]|もし|場合|まで(?:は)?|以外|だけでなく|のみならず|如果|除非|除了|直到|不仅|暂时|当.{1,20}时/u;
export const CJK_EMPTY =
  /ください|下さい|使わないで|使わない|使用しない|使いません|使って|使います|使う|使用|利用|採用|使おう|しましょう|しました|します|した|する|代わりに|ではなく|じゃなくて?|今後|これから|以後|やはり|やっぱり|ことに|使っていない|置かない|保存しない|置く|保存する|削除|切り替え|移行|変更|統一|もう|必ず|絶対に|です|ます|ないで|ない|こと|やめ|では|には|[をはがのにでとも、。]|请|我们|以后|今后|从现在开始|还是|改用|换成|换用|采用|一律|统一|决定|选择|代替|替代|取代|而不是|不再|不要|禁止|停止|弃用|放弃|去掉|移除|作为|进行|项目|切换|迁移|[用了的在中里上时都做来吧不再要别是而和从到把，：:]/gu;
