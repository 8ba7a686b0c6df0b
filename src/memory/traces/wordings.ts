/**
 * Words by which a sentence states a rule or a choice, by language. Data for `stated-lines.ts`: a sentence that only
 * describes the code, quotes, asks or supposes something must not match.
 */
export interface Wording {
  /** Begins a sentence of the user that holds from now on: "never touch legacy/", "from now on …". */
  readonly rule: RegExp;
  /** A sentence of the user that replaces one choice by another: "use dayjs instead of moment". */
  readonly choice: RegExp;
  /** A sentence of the agent in the past tense that tells its own choice: "I went with sqlite because …". */
  readonly decided: RegExp;
}

export const WORDINGS: Readonly<Record<string, Wording>> = {
  en: {
    rule: /^(?:(?:we |you (?:must|should) )?(?:never (?!mind\b|ending\b|again\b)|always )(?!\w{1,20}(?:ed|ing|[^s\W]s)\b)|(?:do not|don['’]?t) (?:ever|use) |(?:do not|don['’]?t) .{1,100} (?:here|any ?more|again|in this (?:repo|repository|project|code ?base))\b|from now on\b|going forward\b|remember(?: that| to)?[: ])/i,
    choice:
      /^(?:let['’]?s |we |i want (?:you |us )?to )?(?:(?:use|take|pick) .{1,100}\b(?:instead\b|rather than |not )|(?:go|stick) with )/i,
    decided:
      /^(?:I|we)(?:['’]ve| have)? (?:decided (?:to|on|against|not to) |chose(?:n)? |opted (?:for|to) |settled on |went with |picked |switched to |(?:keep|kept|left|made|prefer|used?|stored?) .{1,150}\b(?:because|since|instead of|rather than)\b)/i,
  },
  de: {
    rule: /^(?:nie(?:mals)?|immer|ab (?:jetzt|sofort)|von (?:jetzt|nun) an|künftig|in zukunft|merk(?:e)? dir|wir \p{L}{2,20} (?:immer|nie|niemals)|(?:verwende|benutze?|nutze?|nimm|schreib|mach|lass|fass|ändere|lösche|importiere|teste|committe|pushe) .{0,60}\b(?:nie(?:mals)?|immer|nicht mehr|keine?n?))(?!\p{L})/iu,
    choice:
      /^(?:lass uns |wir nehmen |doch |lieber )?(?:nimm|nehmen wir|verwende|benutze?|nutze?|lieber) .{0,100}(?:(?<!\p{L})(?:an)?statt(?:dessen)?(?!\p{L})|anstelle)|^(?:doch )?lieber /iu,
    decided:
      /^(?:ich habe|wir haben) (?:mich |uns )?.{0,120}(?:entschieden|gewählt)|^(?:ich nutze|wir nutzen|ich verwende|wir verwenden) (?:jetzt|nun) /iu,
  },
  es: {
    rule: /^(?:nunca|jamás|siempre|a partir de ahora|de ahora en adelante|recuerda(?: que)?|no (?:uses|toques|modifiques|hagas|subas)) /iu,
    choice:
      /^(?:mejor )?(?:usa|usemos|utiliza|utilicemos|vamos con) .{1,100} (?:en (?:vez|lugar) de |, no )|^mejor (?:usa|usemos|utiliza) /iu,
    decided:
      /^(?:he |hemos )?(?:decidí|decidimos|decidido|elegí|elegimos|elegido|opté por|optamos por|optado por) /iu,
  },
  fr: {
    rule: /^(?:jamais|toujours|n(?:e |['’]).{1,40}\bjamais|n['’]utilise(?:z)? (?:pas|plus)|à partir de maintenant|désormais|dorénavant|souviens-toi|rappelle-toi|retiens|(?:utilise|utilisez|mets|écris|garde|fais) toujours)(?!\p{L})/iu,
    choice: /^(?:utilise(?:z)?|utilisons|prends|prenons) .{1,100}(?:plutôt|au lieu d|à la place)|^plutôt /iu,
    decided: /^(?:j['’]ai|nous avons|on a) (?:décidé|choisi|opté|retenu) /iu,
  },
  pt: {
    rule: /^(?:nunca|jamais|sempre|a partir de agora|de agora em diante|lembre(?:-se)?(?: de| que)?|não (?:use|mexa|toque|altere|faça|suba)) /iu,
    choice:
      /^(?:use|usa|usemos|vamos usar|prefira) .{1,100} (?:em vez d|ao invés d|no lugar d|, não )|^(?:melhor|prefira) usar? /iu,
    decided: /^(?:decidi|decidimos|escolhi|escolhemos|optei por|optamos por) /iu,
  },
  ja: {
    rule: /(?:絶対に|決して|必ず|常に|いつも|今後|これから|以後|二度と).{1,80}(?:て|ないで|こと|べき|禁止|ように)(?:ください|下さい|ね)?[。.!！]?$|(?:使わないで|触らないで|変更しないで|消さないで|コミットしないで)(?:ください|下さい|ね)?[。.!！]?$|^覚えておいて/u,
    choice:
      /(?:の代わりに|ではなく|じゃなくて).{1,80}(?:使って|使おう|使いましょう|にして|にしよう|で行こう)|^(?:やっぱり|やはり).{1,80}(?:にして|で行|使って|にしよう|にしましょう)/u,
    decided: /(?:ことにしました|を採用しました|を選びました|に決めました|に切り替えました)[。.]?/u,
  },
  zh: {
    rule: /^(?:请)?(?:永远不要|永远|绝不|绝对不要|千万(?:不要|别)|(?:不要|别)(?:再|直接)?(?:使用|用|修改|改|动|碰|提交)|禁止|始终|一律|务必|从现在(?:开始|起)|以后|今后|记住)/u,
    choice: /^(?:还是|请)?(?:改用|换成|换用|用.{1,40}(?:代替|替代|而不是|不要用|别用))/u,
    decided: /^(?:我|我们)?(?:最终)?(?:决定|选择了|采用了|改用了)/u,
  },
};

/** Begins a sentence that supposes something, in any of the languages. */
export const CONDITION =
  /^(?:if|when(?:ever)?|unless|suppose|should|wenn|falls|sollte|si|cuando|quand|lorsque|se|quando|caso)(?!\p{L})|^(?:もし|如果|要是|假如)/iu;

/** Words before the sentence itself: "Ok, actually use dayjs instead". A negation is one only before a comma. */
export const LEAD_IN =
  /^(?:(?:(?:ok(?:ay)?|wait|actually|hm+|please|pls|and|also|but|so|then|well|note|important|btw|sorry|yes|great|thanks|doch|bitte|ach|por favor|s['’]il te plaît|oui|sim|sí|すみません|请)(?!\p{L})[,:!.、，：]?|(?:no|nope|nein|non|não|いや|不)[,!.、，])\s*){1,4}/iu;
